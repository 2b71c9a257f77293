//+------------------------------------------------------------------+
//| Hash.mqh: sha256 of bytes and of bars, as hex                    |
//| Twin: bridge/journal/write.py (input_sha256), hashlib            |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_HASH_MQH
#define ONNXBRIDGE_HASH_MQH

// Bytes of one bar as the daemon's rates have it.
#define HASH_BAR_BYTES 60

union DoubleBits
  {
   double            number;
   long              whole;
  };
//+------------------------------------------------------------------+
//| sha256 as 64 hex digits; empty when it can't be computed         |
//+------------------------------------------------------------------+
string Sha256Of(const uchar &bytes[])
  {
   uchar key[];
   uchar digest[];
   if(CryptEncode(CRYPT_HASH_SHA256,bytes,key,digest)!=32)
      return("");
   string text="";
   for(int i=0; i<32; i++)
      text+=StringFormat("%02x",(int)digest[i]);
   return(text);
  }
//+------------------------------------------------------------------+
//| sha256 of a text in UTF-8                                        |
//+------------------------------------------------------------------+
string Sha256OfText(const string text)
  {
   uchar bytes[];
   const int count=StringToCharArray(text,bytes,0,WHOLE_ARRAY,CP_UTF8);
   // The last one is the zero that ends the text.
   if(count<1 || ArrayResize(bytes,count-1)!=count-1)
      return("");
   return(Sha256Of(bytes));
  }
//+------------------------------------------------------------------+
//| Writes a whole number, lowest byte first                         |
//+------------------------------------------------------------------+
void PutBytes(const long value,const int count,uchar &bytes[],int &at)
  {
   for(int i=0; i<count; i++)
      bytes[at+i]=(uchar)((value>>(8*i))&0xFF);
   at+=count;
  }
//+------------------------------------------------------------------+
//| Writes the eight bytes of a double                               |
//+------------------------------------------------------------------+
void PutDouble(const double value,uchar &bytes[],int &at)
  {
   DoubleBits bits;
   bits.number=value;
   PutBytes(bits.whole,8,bytes,at);
  }
//+------------------------------------------------------------------+
//| Identity of the bars that a model saw                            |
//+------------------------------------------------------------------+
string Sha256OfBars(const MqlRates &rates[],const int from,const int count)
  {
   uchar bytes[];
   if(count<1 || ArrayResize(bytes,count*HASH_BAR_BYTES)!=count*HASH_BAR_BYTES)
      return("");
   int at=0;
   for(int i=from; i<from+count; i++)
     {
      PutBytes((long)rates[i].time,8,bytes,at);
      PutDouble(rates[i].open,bytes,at);
      PutDouble(rates[i].high,bytes,at);
      PutDouble(rates[i].low,bytes,at);
      PutDouble(rates[i].close,bytes,at);
      PutBytes(rates[i].tick_volume,8,bytes,at);
      PutBytes(rates[i].spread,4,bytes,at);
      PutBytes(rates[i].real_volume,8,bytes,at);
     }
   return(Sha256Of(bytes));
  }
#endif
//+------------------------------------------------------------------+
